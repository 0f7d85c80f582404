"""What a monitor must answer, said a second time in plain Python that shares nothing with the compiler."""
