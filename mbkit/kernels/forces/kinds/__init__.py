"""The forces that mbkit brings, each in the form of all forces."""
