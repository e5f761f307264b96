"""What a run leaves behind: the event stream, the run record, and the renderers of both.

The plugin emits events (:mod:`.events`), reporters listen. :mod:`.record` folds them into the run record, and
everything that people or machines look at (:mod:`.terminal`, :mod:`.junit`, :mod:`.json_report`) is made from
that record. This package imports none of its modules, so that taking an event costs no renderer.
"""
