package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "d9df48db3d62df10"
