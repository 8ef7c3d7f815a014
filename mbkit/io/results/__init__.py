"""Result files and run directories."""
