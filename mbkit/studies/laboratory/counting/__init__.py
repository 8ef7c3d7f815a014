"""Operations of recursions and of steps, counted on numbers that count."""
