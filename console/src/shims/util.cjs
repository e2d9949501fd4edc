// The one function of Node's `util` that rhea uses.
exports.inherits = (child, parent) => {
  child.super_ = parent;
  Object.setPrototypeOf(child.prototype, parent.prototype);
};
