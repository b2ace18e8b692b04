package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "ca9d5bca151b7d4d"
