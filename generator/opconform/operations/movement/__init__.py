"""Operations that move elements, one module per operation."""
