package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "3113d9929c6af9a5"
