package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "b1463135c30e0d0c"
