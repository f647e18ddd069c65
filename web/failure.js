/* SPDX-License-Identifier: MIT */
'use strict';
/* Errors show in attributes of the root element, where tests look for them. */
window.addEventListener('error', function (e) {
  document.documentElement.dataset.state = 'error';
  document.documentElement.dataset.error = e.message;
});
