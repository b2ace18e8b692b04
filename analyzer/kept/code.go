package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "192e165ad9f3d8da"
