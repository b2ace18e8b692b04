package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "d8d8df28f5405e0a"
