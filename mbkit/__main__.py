"""``python -m mbkit`` is the command ``mbkit``."""

from mbkit.cli.main import main

if __name__ == "__main__":
    main(prog_name="mbkit")
