package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "dac74962efbc4c80"
