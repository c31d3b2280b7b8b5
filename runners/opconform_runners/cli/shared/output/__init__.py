"""What commands print: results, tables, progress, and streams that are safe for terminals."""
