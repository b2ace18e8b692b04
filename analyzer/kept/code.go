package kept

// code stands for the code that judges; TestCode says when it has to be another.
const code = "0"
