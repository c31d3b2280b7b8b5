"""Where a suite is stored: folders and zip files."""
