"""Findings of a study: tables, pictures, reports, and the files that they are kept in."""
