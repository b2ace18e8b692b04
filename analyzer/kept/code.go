package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "3f7d5c2d4ecc4f02"
