"""The pictures and tables of `weft plot`: results of `weft bench`, read, counted, drawn and compared."""
