"""Lines as a terminal shows them, and the one way of them to it."""
