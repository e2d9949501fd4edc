// Stands in for modules of Node.js that rhea names but never calls in a browser.
module.exports = {};
