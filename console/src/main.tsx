import { render } from 'preact';
import './style/base.css';
import './style/parts.css';
import './style/pages.css';
import { Console } from './ui/console';
import { applyTheme } from './ui/theme';

applyTheme();
render(<Console />, document.getElementById('console')!);
