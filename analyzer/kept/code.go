package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "c45b01fe49b62105"
