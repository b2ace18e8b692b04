package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "a3ab36c6fae30e81"
