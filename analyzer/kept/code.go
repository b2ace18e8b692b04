package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "63896f8138aa9b5f"
