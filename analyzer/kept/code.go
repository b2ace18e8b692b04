package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "06dc9d74b30c233c"
