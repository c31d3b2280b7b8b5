"""Operations that move elements: one module per operation, and a folder for several that share code."""
