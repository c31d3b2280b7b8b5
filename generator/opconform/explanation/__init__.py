"""What is said about cases, and decides no byte of a suite: lists, pictures, origins, models and requirements."""
