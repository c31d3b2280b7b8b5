"""What is said about cases, and decides no byte of a suite: pictures, the origins of elements, and lists."""
