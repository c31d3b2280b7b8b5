"""Groups that every operation has, made from its samples."""
