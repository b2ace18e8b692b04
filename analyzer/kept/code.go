package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "539a37b1ed66ad3d"
