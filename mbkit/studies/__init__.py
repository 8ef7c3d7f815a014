"""Projects and studies: folders with models, plugins and descriptions of runs, in files."""

from mbkit.studies.new_project import new_project as new_project
from mbkit.studies.project import Project as Project
from mbkit.studies.project import load_project as load_project
from mbkit.studies.study import Study as Study
from mbkit.studies.study_file import load_study as load_study

__all__ = ["Project", "Study", "load_project", "load_study", "new_project"]
