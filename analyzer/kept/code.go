package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "cddc1fc9a5663b9d"
