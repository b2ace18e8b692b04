package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "1cf9d8c5cbf75b16"
