"""Operations that stand around the one under test, and are not tested themselves."""
