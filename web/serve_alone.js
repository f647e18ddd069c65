/* SPDX-License-Identifier: MIT
 * The page without a server: the library is in the page, compiled to WebAssembly.
 */
'use strict';
/* global D, Tact, DecompressionStream */
/* exported askHere */
let library = null;

function loadLibrary() {
  const text = document.getElementById('library').textContent;
  const packed = Uint8Array.from(atob(text), function (c) { return c.charCodeAt(0); });
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer().then(function (binary) {
    return Tact({ wasmBinary: binary });
  });
}

/* Calls a function of the library that returns a text. */
function callLibrary(lib, name, words) {
  const at = lib.ccall(name, 'number', words.map(function () { return 'string'; }), words);
  const text = lib.UTF8ToString(at);
  lib._free(at);
  return text;
}

/* There is no assembler here: text is a listing with bytes, or an error. */
function withBytes(lib, body) {
  if (body.text === undefined) return body;
  const found = callLibrary(lib, 'page_listing', [body.text]);
  if (!found)
    throw new Error('This page has no assembler. It takes hex digits, or a listing with bytes ' +
      'as \u201cobjdump -d\u201d prints it; \u201ctact serve\u201d takes assembly text.');
  const request = Object.assign({}, body, { hex: found.split('\n') });
  delete request.text;
  delete request.syntax;
  return request;
}

/* As `ask` of serve.js, of the library in this page. */
function askHere(endpoint, body) {
  library = library || loadLibrary();
  return library.then(function (lib) {
    const request = JSON.stringify(withBytes(lib, body));
    try {
      return JSON.parse(callLibrary(lib, 'page_respond', [endpoint, request]));
    } catch (e) {
      library = null; /* the next request gets a new one */
      throw new Error('The library ended: there may be too little memory for this code.');
    }
  }, function () {
    throw new Error('This browser cannot load the library (it takes WebAssembly and ' +
      'DecompressionStream, of browsers since 2023).');
  });
}
document.documentElement.dataset.alone = !!D.is_static;
