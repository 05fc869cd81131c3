"""A document of many kinds of elements read and written as HTML, LaTeX, XML and a tree."""
import docutils.core

TEXT = """
=====
Title
=====

:Author: Me
:Date: 2020-01-01

.. contents::

One `link <http://a.de>`_ and *emphasis*, **strong**, ``literal`` and |sub| [1]_ [#auto]_.

.. |sub| replace:: substituted

A list
------

* one
* two

  1. a
  2. b

term
   definition

-o FILE   an option
--long    another

======  =====
A       B
======  =====
1       2
3       4
======  =====

+---+---+
| a | b |
+---+---+
| c | d |
+---+---+

.. note:: A note with a :ref-less:`role`.

.. image:: a.png
   :alt: x

.. code:: python

   def f(): return 1

>>> doctest
1

    A quote

    -- somebody

.. [1] A footnote.
.. [#auto] Another.
.. _target:

See target_.

.. math:: a^2

.. raw:: html

   <b>x</b>
"""
quiet = {"report_level": 5, "input_encoding": "unicode", "output_encoding": "unicode"}
for _ in range(3):
    for writer in ("html", "latex", "xml", "pseudoxml", "html5", "manpage"):
        docutils.core.publish_string(TEXT, writer_name=writer, settings_overrides=quiet)
docutils.core.publish_parts(TEXT, writer_name="html", settings_overrides=quiet)
