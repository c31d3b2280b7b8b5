"""Operations that compute elements."""
