"""The governed contract, the expression language, the referee, and the engines that run what it certified."""
