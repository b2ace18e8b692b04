package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "e92ea0abb9c0e96b"
