"""Sources of several styles formatted, in both modes."""
import black

SOURCE = '''
from a import (b,c)
import os, sys
@decorator( 1 )
class   A ( B ) :
    "doc   "
    x:int=3
    def f(self,a,*,b=1,**kw)->Dict[str,int]:
        # fmt: off
        y  =  1
        # fmt: on
        if a==1 and b!=2 or not (a<b):
            return {'a':1,'b':[1,2,3,],**kw}
        for i in range(10): print(i, "some longer string here", end='', flush=True, file=sys.stderr, other=argument)
        with open('x') as f, open("y") as g:
            del (a), (b)
        try:
            assert some_type_of_boolean_expression, "followed by a really long string that is used to explain the assertion"
        except (ValueError,TypeError) as e:
            raise  RuntimeError('%s' % e) from  e
        return result.filter(name="x").order_by("other_name").values_list("one", "two").first_of_all_results(limit=10)
async def g(x = lambda a,b: a+b):
    """Docstring with trailing spaces   
      and more.
    """
    return await (yield 0xABCDEF + 10L if 0 else 1e5j) [a+1 :] [x[1:2], y[fn(1) : fn(2)]]
print("hello" "world", f'{a!r:>{width}}' , (1,) , not(a) , ~ b**-c , *args)
'''.replace("10L", "10")
OLD = black.Mode(line_length=60, string_normalization=False, target_versions={black.TargetVersion.PY38})
for turn in range(6):
    for mode in (black.Mode(), OLD):
        for part in (SOURCE, SOURCE.replace("self", "this" * (turn + 1))):
            result = black.format_str(part, mode=mode)
            black.assert_equivalent(part, result), black.assert_stable(part, result, mode)
            black.diff(part, result, "a", "b")
