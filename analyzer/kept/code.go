package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "d0ad490d0d987dc2"
