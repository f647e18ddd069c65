/* SPDX-License-Identifier: MIT */
'use strict';
/* What goes wrong shows in attributes of the root element: tests look there. */
window.addEventListener('error', function (e) {
  document.documentElement.dataset.state = 'error';
  document.documentElement.dataset.error = e.message;
});
