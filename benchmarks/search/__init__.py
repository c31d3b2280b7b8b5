"""What `opconform fuzz` finds of a findings page, how soon, and at which speed."""
