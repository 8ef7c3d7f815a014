"""Pictures of results and of trees; modules here import matplotlib when they are called."""
