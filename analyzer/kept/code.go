package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "5a3d657b8bdf8e88"
