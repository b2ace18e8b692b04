package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "e5cef9a7ec7d2d83"
