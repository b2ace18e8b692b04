package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "13befb0d12f4555d"
