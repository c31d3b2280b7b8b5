"""Operations that change shapes alone, one module per operation."""
